/* Regions on lanes: what the program says it was doing, and what the GPU did of it. */
#include <math.h>

#include "plot.h"

#define LEAST_WIDTH 0.5 /* of a region that is shorter than can be seen */
#define LABEL_ROOM 12.0
#define LABEL_SIZE 6.5
#define EDGE_WIDTH 1.2

static void draw_label(struct plot *p, const struct region *r, double x, double y, double room)
{
	const struct font font = {LABEL_SIZE, ALIGN_LEFT, false, p->theme->ink};
	struct buf b;

	buf_init(&b, 4096);
	put_printable(&b, r->name);
	canvas_text_buf(p->canvas, x, y, room, &font, &b);
	buf_finish(&b);
}

/* The i-th of them; *end is how far its lane is drawn already. */
static void draw_region(struct plot *p, size_t i, const struct frame_of *f, double y, double height,
                        double *end)
{
	const struct region *r = p->panels->regions[i].region;
	bool is_gpu = r->domain == DOMAIN_GPU, is_open = r->unfinished || r->end_mono_ns == 0;
	double x0 = frame_x(f, r->start_mono_ns);
	double x1 = is_open && r->end_mono_ns == 0 ? f->plot.x + f->plot.w : frame_x(f, r->end_mono_ns);
	struct colour c = {p->theme->regions[p->region_tints[i]], is_open ? 0.6 : 1};
	struct colour edge = is_gpu ? p->theme->gpu : p->theme->soft_ink;

	if (x1 - x0 < LEAST_WIDTH) {
		/* Many short ones are a dark stretch, drawn once. */
		if (x0 < *end - LEAST_WIDTH / 2)
			return;
		x1 = x0 + LEAST_WIDTH;
		c = edge;
	}
	canvas_fill_rect(p->canvas, (struct rect){x0, y + 0.6, x1 - x0, height - 1.2}, c);
	if (x1 - x0 > 3 * EDGE_WIDTH && r->start_mono_ns >= f->from_mono_ns)
		canvas_fill_rect(p->canvas, (struct rect){x0, y + 0.6, EDGE_WIDTH, height - 1.2}, edge);
	if (x1 - x0 > LABEL_ROOM && height >= LANE_HEIGHT * 0.8)
		draw_label(p, r, x0 + 3, y + height / 2 + LABEL_SIZE * 0.36, x1 - x0 - 4);
	*end = x1;
}

void draw_lanes(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	bool is_gpu = panel->kind == PLOT_GPU_LANES;
	uint32_t lanes = is_gpu ? p->panels->gpu_lanes : p->panels->host_lanes;
	double height = f->plot.h / (lanes ? lanes : 1);
	double *ends = alloc_array(lanes + 1, sizeof(*ends));
	size_t i;

	if (!ends) {
		p->path.failed = true;
		return;
	}
	for (i = 0; i < p->panels->regions_len; i++) {
		const struct lane_region *l = &p->panels->regions[i];
		const struct region *r = l->region;

		if ((r->domain == DOMAIN_GPU) != is_gpu || l->lane >= lanes ||
		    r->start_mono_ns >= f->end_mono_ns ||
		    (r->end_mono_ns && r->end_mono_ns <= f->from_mono_ns))
			continue;
		draw_region(p, i, f, f->plot.y + height * l->lane, height, &ends[l->lane]);
	}
	free(ends);
}
