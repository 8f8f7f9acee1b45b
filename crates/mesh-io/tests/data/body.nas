$ two tets, fields of 8 and 16 characters
BEGIN BULK
GRID    1               0.      0.      0.
GRID    2               1.      0.      0.
GRID*   3                               0.              1.              *
*       0.
GRID    4               0.      0.      1.
GRID    5               1.      1.      1.
CTETRA  1       1       1       2       3       4
CTETRA  2       2       2       3       4       5
ENDDATA
