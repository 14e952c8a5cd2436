"""What people read and print: papers as HTML or Markdown, rubric sheets, and lists of students."""
