# Exchanges two names in one step, as fast as it can.
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
a, b = sys.argv[1].encode(), sys.argv[2].encode()
if libc.renameat2(-100, a, -100, b, 2) != 0: sys.exit(1)
print('swapping', flush=True)
while True: libc.renameat2(-100, a, -100, b, 2)
