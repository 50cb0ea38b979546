/* page: the file web/dist/page.html, which the build puts into the library. */
#ifndef MBG_VIEW_PAGE_H
#define MBG_VIEW_PAGE_H

#include <stddef.h>

extern const unsigned char mbg__view_page[];
extern const size_t mbg__view_page_size;

#endif
