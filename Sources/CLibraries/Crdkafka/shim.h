// librdkafka, and the mock cluster that it carries for tests and for `posthorn demo`.
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
