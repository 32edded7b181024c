/*
 * One recording: configuration, life cycle, session metadata, replays of captured machines.
 *
 * The door is public: galvo/suite.h. Inside there is nothing that other rooms may use.
 *
 * A captured machine is a directory with host.txt and one directory for each instant, which holds
 * proc/ and sys/ as they were. host.txt has one fact a line:
 *     clk_tck 100
 *     page_bytes 4096
 *     cpu_count 4
 *     instant t0 1000000000 1000000000 1764000000000000000
 * the three numbers being CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME in ns. Lines that are
 * empty or begin with '#' are skipped.
 */
#ifndef GALVO_SUITE_ROOM_H
#define GALVO_SUITE_ROOM_H

#include "galvo/suite.h"

#endif
