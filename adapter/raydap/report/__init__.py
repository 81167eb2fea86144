"""`raydap report`: watches a program or job unattended, and writes an HTML report."""
