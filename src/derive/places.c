/* Where the processes of a run are in the order of the tree. */
#include "figure.h"

galvo_status process_places(const struct galvo_summary *s, const struct galvo_run *run,
                            size_t **ret, galvo_error *reterr)
{
	size_t *place = alloc_array(run->processes_len, sizeof(*place)), i;

	if (!place)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu processes",
		               run->processes_len);
	for (i = 0; i < s->processes_len; i++)
		place[s->processes[i].info - run->processes] = i;
	*ret = place;
	return GALVO_OK;
}
