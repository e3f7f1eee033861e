"""Values, tables, images, files, pages, notebooks and errors as parts of a prompt.

The way begins at attached_values.attached_value, which finds out what a value is and hands it to the module that
writes its kind, in the room that it may take (attached.TextRoom). Errors begin at errors.attached_error.
"""
