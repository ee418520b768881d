// libmicrohttpd. Variadic calls and enum constants that Swift does not see have typed twins here.
#pragma once
#include <microhttpd.h>
