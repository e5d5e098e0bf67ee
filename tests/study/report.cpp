#include <gtest/gtest.h>
#include <heed/study/report.h>
TEST(a, b) {}
