"""What people read and print: papers as HTML or Markdown, rubric sheets, and lists of students.

Knows neither services nor the store: a paper comes as finished words.
"""
