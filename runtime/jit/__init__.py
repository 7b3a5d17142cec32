"""Compilation, its cache, and calls by address.  May import: `support`, `generated`.

freshness, cache       refuse stale kernels; folders named by the digests of sources
place, tidying         where the cache is and who may write there; what is removed from it
locks, forks           waiting for other processes; numba's compiler in forked ones
compilation, pipelines compiled functions: entry points that Python calls, and what is linked into them
lowering               numba's translation to LLVM's language, shorter for what compiled code here contains
machine_code, stored_library
                       machine code in files of the cache, and what is made of it in the next process
pointers, references   named tuples of arrays behind one pointer, and how Python hands them over
lane_vectors           the numbers of many cases as one value: functions for one case serve all lanes
device_code            the same of kernels for graphics processors
recorder               a recorder that writes code of other languages: Python code is run with it in place of numbers
llvm_code              its instructions of LLVM for one number
straight_line          generated kernels in LLVM's language, written by it
words                  compiled code in the terms of the field, for the notice of compilation
kernels, addresses     their two uses: by name in compiled code, by address for joints and whole models
"""
