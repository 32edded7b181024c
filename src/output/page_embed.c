/* What the build has put into this galvo: the script and the style of the page, or why there are none. */
#include "page.h"

/* The bytes of a file of the build, between two symbols. */
#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
	        ".hidden galvo_page_" #name "\n.hidden galvo_page_" #name "_end\n"                 \
	        ".globl galvo_page_" #name "\n.globl galvo_page_" #name "_end\n"                   \
	        "galvo_page_" #name ":\n.incbin \"" GALVO_PAGE_DIR "/" file "\"\n"                 \
	        "galvo_page_" #name "_end:\n.byte 0\n"                                             \
	        ".popsection\n");                                                                  \
	extern const char galvo_page_##name[] __attribute__((visibility("hidden")));               \
	extern const char galvo_page_##name##_end[] __attribute__((visibility("hidden")))

EMBED(script, "page.js");
EMBED(style, "page.css");
EMBED(reason, "page.reason");
EMBED(hashes, "page.csp");

#define EMBEDDED(name)                                                                             \
	span_of(galvo_page_##name, (size_t)((uintptr_t)galvo_page_##name##_end -                    \
	                                    (uintptr_t)galvo_page_##name))

galvo_status page_embedded(struct page_parts *ret, galvo_error *reterr)
{
	struct span reason = span_trim(EMBEDDED(reason)), line;

	*ret = (struct page_parts){EMBEDDED(script), EMBEDDED(style), span_trim(EMBEDDED(hashes))};
	if (ret->script.n && ret->style.n)
		return GALVO_OK;
	if (!span_take_line(&reason, &line))
		line = span_str("nobody knows why");
	return err_set(reterr, GALVO_ERR_ABSENT, "this galvo was built without its page: %.*s",
	               (int)(line.n < 200 ? line.n : 200), line.p);
}
