/* Calls that misread hostile text or overrun buffers: using one does not compile. */
#ifndef GALVO_BANNED_H
#define GALVO_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat strtok strtok_r sprintf vsprintf gets fgets
#pragma GCC poison sscanf fscanf scanf vsscanf atoi atol atoll atof strtol strtoul strtoll strtoull
#pragma GCC poison strtof gmtime localtime ctime asctime setjmp longjmp system popen

#endif
