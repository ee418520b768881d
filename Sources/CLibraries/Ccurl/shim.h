// libcurl. Its set-option calls are variadic, which Swift does not see: each has a typed twin here.
#pragma once
#include <curl/curl.h>
