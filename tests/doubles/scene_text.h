/* Scenes as text, so that a script can write one. */
#ifndef GALVO_SCENE_TEXT_H
#define GALVO_SCENE_TEXT_H

#include "base/base.h"
#include "scene.h"

/*
 * Puts what the text says into a scene that scene_new has made. A line is a word and then
 * NAME=VALUE, blanks between; '#' begins a comment. Times are ns, or end in us, ms or s.
 *
 *   scene seed= driver= cuda= cupti= layout= real= init= aborts= sample_bytes= slot_bytes=
 *         stretch= tail= gpu_delay= gpu_ppm=
 *         gpu_set_at= gpu_set_by= clock=    clock: a fake one, which stands there
 *   gpu CHIP name= uuid= pci= ordinal= minor= sms= links= memory= lost= stride= support=
 *         mig_result= mig= mig_pending= migs= use_raw= nvlink5= events=    a GPU; the lines below are of it
 *   curve NAME shape=constant|line|square|noise|steps a= b= period= result= TIME=VALUE…
 *   process pid= kind=compute|graphics|mps memory= gi= ci= from= until=
 *   use pid= at= sm= memory= enc= dec=
 *   mig index= gi= ci= memory= used= uuid=
 *   xid at= code= device= times= astray=    of the GPU before it, if none is named
 *   fault KIND call= device= result= value= from= until= skip= times=
 *
 * A kind is the end of an enum scene_fault_kind in small letters: result, hang, slow, zero_stamps.
 */
galvo_status scene_parse(struct scene *s, const char *name, struct span text, galvo_error *reterr);

#endif
