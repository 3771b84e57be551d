"""The encoder's vectors of each line of a text.

In: a file of lines and an encoder. Out: 2018's JSON lines, or an npz file. May
import: `training`, for the devices, and below.

Read `packed_lines`, `encoder_vectors`, `vector_files`.
"""
