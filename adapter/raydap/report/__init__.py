"""`raydap report`: a run that is watched without anybody, and the page that it leaves."""
