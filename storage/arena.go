package storage

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// glibc gives threads heaps of their own, up to eight for each core, and keeps in each what was ever needed there. Go calls
// SQLite from whatever thread it likes, so every heap would grow to hold what one needs; the connections hardly allocate at
// the same time. Before main: a thread keeps the heap that it has.
__attribute__((constructor)) static void share_heap(void) {
#if defined(__GLIBC__) && defined(M_ARENA_MAX)
	mallopt(M_ARENA_MAX, 1);
#endif
}
*/
import "C"
