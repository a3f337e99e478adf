/* If, Loop, Scan and SequenceMap: tests/plan/control.case. */
#include "config.h"

#include "plan/plan.h"

#include "plan_cases.h"

int main(void)
{
	cases_run("tests/plan/control.case", NULL);
	return done_testing();
}
