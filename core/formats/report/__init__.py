"""What people print: rubric sheets, and lists of students. Knows neither services nor the store."""
