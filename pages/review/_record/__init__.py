"""Parts of the page that tells what reviews are worth."""
