/* Somebody's program: calls the library that was installed. */
#include <galvo/galvo.h>
#include <stdio.h>

int main(void)
{
	galvo_metric metric = {.struct_size = sizeof(metric)};
	galvo_status status = galvo_metric_at(0, &metric, NULL);

	printf("galvo %s, first metric %s\n", galvo_version(), metric.name);
	return status != GALVO_OK;
}
