/*
 * Follows a run while it is recorded, to its end: a line for each row of the machine, with the time of day.
 *
 * usage: follow_run [DIRECTORY]
 */
#include <galvo/galvo.h>
#include <stdio.h>
#include <time.h>

static const char busy_name[] = "cpu__cycles_busy.avg.pct_of_peak_sustained_elapsed";

/* What is new is a run by itself. */
static void print_news(const galvo_run *news)
{
	galvo_run_table table = {.struct_size = sizeof(table)};
	galvo_run_column busy = {.struct_size = sizeof(busy)};
	size_t t, c, row;
	uint64_t wall_ns;

	if (galvo_run_column_find(news, busy_name, &t, &c, NULL) != GALVO_OK ||
	    galvo_run_table_at(news, t, &table, NULL) != GALVO_OK ||
	    galvo_run_column_at(news, t, c, &busy, NULL) != GALVO_OK)
		return;
	for (row = 0; row < table.rows_len; row++)
		if (galvo_run_to_wall(news, &table.mono_ns[row], 1, &wall_ns, NULL) == GALVO_OK)
			printf("%llu.%09llu busy %.1f %%\n",
			       (unsigned long long)(wall_ns / 1000000000),
			       (unsigned long long)(wall_ns % 1000000000), busy.values[row]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct timespec rest = {0, 100000000};
	galvo_follower_news news = {.struct_size = sizeof(news)};
	galvo_follower *follower = NULL;
	galvo_error error;
	galvo_status status;

	status = galvo_follower_open(argc > 1 ? argv[1] : "run", 0, &follower, &error);
	while (status == GALVO_OK) {
		status = galvo_follower_poll(follower, &news, &error);
		if (status < 0)
			break;
		if (news.has_restarted)
			printf("another recording has begun\n");
		print_news(news.run);
		if (status == GALVO_OK && !news.has_more)
			nanosleep(&rest, NULL);
	}
	galvo_follower_close(follower);
	if (status == GALVO_DONE)
		return 0;
	fprintf(stderr, "%s\n", error.text);
	return 1;
}
