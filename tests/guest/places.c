// What PlaceObjects.java asks the kernel: the calling thread's CPU, and a page's node.
#define _GNU_SOURCE
#include <jni.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

JNIEXPORT void JNICALL Java_PlaceObjects_stayOn(JNIEnv* jni, jclass self, jint cpu) {
  (void)self;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    (*jni)->FatalError(jni, "cannot stay on that CPU");
  }
}

JNIEXPORT jint JNICALL Java_PlaceObjects_nodeOf(JNIEnv* jni, jclass self, jbyteArray array) {
  (void)self;
  // HotSpot gives the array itself, not a copy.
  void* const contents = (*jni)->GetPrimitiveArrayCritical(jni, array, NULL);
  if (contents == NULL) {
    (*jni)->FatalError(jni, "no address");
    return -1;
  }
  const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  void* page = (void*)((uintptr_t)contents / page_bytes * page_bytes);
  int node = -1;
  // Without nodes to move to it only tells where the page is: move_pages(2).
  const long asked = syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0);
  (*jni)->ReleasePrimitiveArrayCritical(jni, array, contents, JNI_ABORT);
  return asked == 0 ? node : -1;
}
