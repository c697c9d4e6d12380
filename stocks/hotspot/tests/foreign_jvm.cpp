// A libjvm that is no HotSpot: symbols enough, none of them HotSpot's.
extern "C" int fake_start() { return 1; }
