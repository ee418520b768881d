// What Swift's Glibc module leaves out: Linux calls that the lanes need. Each is the call itself, under a name that imports.
#pragma once
