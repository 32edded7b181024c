/* Which files of processes stay open: the ones read last, within the budget of descriptors. */
#include "keep.h"

static void unlink_file(struct keeper *all, struct keep *k)
{
	*(k->older ? &k->older->newer : &all->oldest) = k->newer;
	*(k->newer ? &k->newer->older : &all->newest) = k->older;
	k->older = k->newer = NULL;
}

static void link_newest(struct keeper *all, struct keep *k)
{
	k->older = all->newest;
	*(all->newest ? &all->newest->newer : &all->oldest) = k;
	all->newest = k;
}

void keep_close(struct keeper *all, struct keep *k)
{
	if (k->file.fd < 0)
		return;
	unlink_file(all, k);
	kept_close(&k->file);
	fd_budget_put(all->budget, 1);
}

/*
 * The oldest gives way to one that was read after it. Where more files than there is room for are
 * read in turn, each of them was read before all that are open: those stay, or none would ever be
 * read twice.
 */
static bool make_room(struct keeper *all, const struct keep *k)
{
	if (!all->budget)
		return false;
	/* Others have more than they had: an identity goes first. */
	while (all->oldest && fd_budget_is_over(all->budget))
		keep_close(all, all->oldest);
	if (fd_budget_take(all->budget, 1))
		return true;
	if (!all->oldest || all->oldest->used >= k->used)
		return false;
	keep_close(all, all->oldest);
	return fd_budget_take(all->budget, 1);
}

galvo_status keep_read(struct keeper *all, struct keep *k, int dir_fd, const char *path,
                       uint32_t epoch, enum file_kind kind, struct buf *into,
                       struct span *ret_text, galvo_error *reterr)
{
	bool is_kept = k->file.fd >= 0;
	galvo_status status;

	if (is_kept)
		unlink_file(all, k);
	if (is_kept && fd_budget_is_over(all->budget)) {
		fd_budget_put(all->budget, 1);
		is_kept = false;
	}
	is_kept = is_kept || make_room(all, k);
	status = kept_read(&k->file, dir_fd, path, epoch, kind, into, ret_text, reterr);
	/* The program's own descriptors are more than its half: ours go one by one. */
	while (status != GALVO_OK && reterr && fd_is_short(reterr) && all->oldest) {
		keep_close(all, all->oldest);
		status = kept_read(&k->file, dir_fd, path, epoch, kind, into, ret_text, reterr);
	}
	k->used = ++all->count;
	if (is_kept && k->file.fd >= 0) {
		link_newest(all, k);
		return status;
	}
	kept_close(&k->file);
	if (is_kept)
		fd_budget_put(all->budget, 1);
	return status;
}
