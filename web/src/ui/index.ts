/* What is around the charts: header, tools, tables, keys. */
import type { View } from "../state.js";
import type { Store } from "../store.js";

export function startUi(_view: View, _store: Store): void {}
