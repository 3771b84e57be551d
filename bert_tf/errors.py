"""The one exception that stands for a mistake the user can mend."""


class UserError(ValueError):
    """A wrong flag, file or value.

    The message names the flag, file, line or id; what was found; the rule; and
    what to do. Scripts print it without a traceback and exit with code 1.
    """
