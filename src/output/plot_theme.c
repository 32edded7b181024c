/* Colours of a picture: told apart by the colour-blind, and light enough, or dark enough, for the paper. */
#include <math.h>

#include "plot.h"

/* Hues are those of Okabe and Ito; some are darker, or lighter, to stand out from the paper. */
static const struct theme light = {
	.paper = {0xffffff, 1}, .ink = {0x1c1e21, 1}, .soft_ink = {0x5b6168, 1},
	.grid = {0xe3e5e8, 1}, .frame = {0xb4b9bf, 1}, .peak = {0x50555b, 1},
	.mark = {0x8a2be2, 1}, .rest = {0x8f959b, 1}, .gpu = {0x1b7a3d, 1},
	.warning = {0xb3261e, 1}, .unnamed = {0xd3d7db, 1},
	.curves = {0x0068b6, 0xc78000, 0x039e62, 0xb3488e, 0xd5440a, 0x3590cf, 0x8a7800, 0x1e005a},
	.regions = {0xbcd9ee, 0xfbdcab, 0xb5e3d3, 0xeac6dd, 0xf7c4ad, 0xd2e9f8, 0xf3edaa, 0xd5d8dc},
	.heat = {0xf6f3df, 0xddd08a, 0xa59d78, 0x6b7180, 0x34507f, 0x00204d},
};

static const struct theme dark = {
	.paper = {0x15181c, 1}, .ink = {0xe9ebee, 1}, .soft_ink = {0xa7adb5, 1},
	.grid = {0x2a2f36, 1}, .frame = {0x4c535c, 1}, .peak = {0xc3c8ce, 1},
	.mark = {0xc79bff, 1}, .rest = {0x868d96, 1}, .gpu = {0x7ddc9b, 1},
	.warning = {0xff8a80, 1}, .unnamed = {0x474d56, 1},
	.curves = {0x56b4e9, 0xe2a400, 0x18c695, 0xe08cbe, 0xff7a45, 0x9fd3ff, 0xf0e442, 0xb04ae8},
	.regions = {0x1d4664, 0x654810, 0x14523f, 0x5b2f4b, 0x6b331b, 0x2b5a80, 0x57521c, 0x444a52},
	.heat = {0x1c2430, 0x23406e, 0x5c6a80, 0x99906b, 0xd1bb58, 0xffea46},
};

const struct theme *theme_of(bool is_dark)
{
	return is_dark ? &dark : &light;
}

struct colour colour_alpha(struct colour c, double alpha)
{
	c.alpha = alpha;
	return c;
}

struct colour theme_heat(const struct theme *t, size_t level)
{
	const size_t steps = ARRAY_LEN(t->heat) - 1;
	double at = (double)level * (double)steps / (HEAT_LEVELS - 1);
	size_t i = at >= (double)steps ? steps - 1 : (size_t)at;
	double part = at - (double)i;
	uint32_t rgb = 0;
	int shift;

	for (shift = 16; shift >= 0; shift -= 8) {
		double a = t->heat[i] >> shift & 0xff, b = t->heat[i + 1] >> shift & 0xff;

		rgb |= (uint32_t)(a + (b - a) * part + 0.5) << shift;
	}
	return (struct colour){rgb, 1};
}

static double luminance(uint32_t rgb)
{
	static const double weight[] = {0.2126, 0.7152, 0.0722};
	double sum = 0;
	int i;

	for (i = 0; i < 3; i++) {
		double v = (rgb >> (16 - 8 * i) & 0xff) / 255.0;

		sum += weight[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double colour_contrast(uint32_t a, uint32_t b)
{
	double la = luminance(a), lb = luminance(b);

	return (fmax(la, lb) + 0.05) / (fmin(la, lb) + 0.05);
}
