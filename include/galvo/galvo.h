/* Everything libgalvo offers. */
#ifndef GALVO_GALVO_H
#define GALVO_GALVO_H

#include "config.h"
#include "counters.h"
#include "doctor.h"
#include "event.h"
#include "gpu.h"
#include "metrics.h"
#include "page.h"
#include "plot.h"
#include "profiler.h"
#include "reader.h"
#include "run.h"
#include "status.h"
#include "suite.h"
#include "summary.h"

#endif
