// What the kernel says of huge pages.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// How many of these pages of 4 KiB are part of a transparent huge page, mapped as such or not; -1: only root
// may know.
long parts_of_huge_pages(const unsigned char* at, long pages);

#ifdef __cplusplus
}
#endif
