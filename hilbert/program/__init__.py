"""The straight line: steps that each make one array from earlier ones, built, simplified, bound to arrays and run."""
