# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own tool over whatever libnvidia-ml.so.1 it finds."""
import ctypes
import os
import shutil
import subprocess
import sys

if not shutil.which('nvidia-smi'):
    print('no nvidia-smi')
    sys.exit(77)
os.environ.pop('VCUDA_LOG', None)  # what it says of calls that are not served is no output of the tool's
# That this program runs through vcuda is seen by CUDA's counters.
print('cuInit', ctypes.CDLL('libcuda.so.1').cuInit(0))
for options in (['-L'],
                ['--query-gpu=index,name,uuid,pci.bus_id,driver_version,memory.total,compute_cap,persistence_mode,'
                 'ecc.mode.current,power.limit,clocks.max.sm,compute_mode,mig.mode.current', '--format=csv']):
    done = subprocess.run(['nvidia-smi'] + options, capture_output=True, text=True, check=False)
    print(' '.join(options), 'status', done.returncode)
    print(done.stdout, done.stderr)
