/* A hole stays a hole at every zoom, also of a curve of which there are buckets alone. */
import { assert, format } from "../harness.mjs";

const LENGTH_S = 20;
const HOLE = [8, 9];

function scene(hz, options) {
	const random = format.dice(5);
	const run = format.emptyRun("vm", LENGTH_S);
	const blocks = new format.Blocks();
	const points = format.instants(LENGTH_S, hz, random, [HOLE]);
	for (const shape of ["lines", "stack"]) {
		const entry = format.series(`${shape}/a`, "a");
		run.panels.push(format.panel(shape, shape, "Machine", "pct", { shape, ceiling: 100, series: [entry] }));
		format.addBase(run, blocks, points, [{ entry, values: points.ends.map(() => 50 + random() * 20) }], options);
	}
	return { document: format.documentOf([run]), blocks };
}

/* How many columns of the plot have no ink between these instants, and how many there are. */
function bare(page, panel, from, end) {
	return page.evaluate(({ panel, from, end }) => {
		const canvas = document.querySelector(`[data-panel="${panel}"] canvas`);
		const { range } = window.galvo.view;
		const left = 66;
		const x = (t) => Math.round(left + ((t - range.from) / (range.end - range.from)) * (canvas.width - left));
		const [a, b] = [x(from), x(end)];
		const { data } = canvas.getContext("2d").getImageData(a, 0, b - a, canvas.height);
		let empty = 0;
		for (let column = 0; column < b - a; column++) {
			let ink = false;
			for (let row = 0; row < canvas.height; row++) {
				const i = (row * (b - a) + column) * 4;
				ink ||= data[i + 3] > 40 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40;
			}
			if (!ink) empty++;
		}
		return { empty, columns: b - a };
	}, { panel, from, end });
}

export default async function (t) {
	for (const [hz, options] of [[1000, { overview: 512, fine: false }], [1000, { overview: 512 }], [20, {}]]) {
		const page = await t.open(scene(hz, options));
		await page.evaluate(() => window.galvo.ready);
		for (const range of [[0, LENGTH_S], [5, 12], [7.5, 9.5]]) {
			await page.evaluate(([from, end]) => window.galvo.view.setRange({ from, end }), range);
			const pixel = (range[1] - range[0]) / 800;
			for (const panel of ["lines", "stack"]) {
				await t.until(`${panel} has its hole, ${hz} Hz, ${range}`, async () => {
					const hole = await bare(page, panel, HOLE[0] + 3 * pixel + 0.05, HOLE[1] - 3 * pixel - 0.05);
					return hole.columns > 20 && hole.empty === hole.columns;
				});
				const beside = await bare(page, panel, range[0] + 2 * pixel, HOLE[0] - 2 * pixel - 0.05);
				assert.equal(beside.empty, 0, `${panel} is drawn before the hole, ${hz} Hz, ${range}`);
			}
		}
		await page.close();
	}
}
