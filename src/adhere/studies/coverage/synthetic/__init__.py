"""Ten synthetic trials, analysed as a user's tables: does every set that is shown hold, is any sentence wrong?"""
