// Package view is the read model behind the screens: it turns what the engine's loop hands over into one consistent
// picture, sorted, filtered and cut to the window a screen asked for.
//
// # Concurrency
//
// One goroutine (the engine's loop) calls Model.Update, about ten times a second while somebody looks and every few
// seconds otherwise; it costs the loop one append under a short lock. Any goroutine may call Model.Frame: the changes that waited
// are folded in there, and sorting, rings and forecasts are paid there. When nobody asks for frames, Update folds the
// oldest changes in itself, so that memory stays bounded.
//
// A Delta and everything in it belongs to the model once it was handed over. A Frame is never written again after it was
// returned; frames may share slices and maps, so a reader must not write to them either.
//
// # Time
//
// There is no clock in here. A frame is taken at the At of the newest Delta; every age, rate and forecast refers to it.
// Between two deltas that are more than 15 seconds apart lies a gap: the chart shows it as one and no rate counts it.
// When the wall clock steps back, the model's own timeline goes on: rates and charts stay right, and a chart ends by so much too late.
//
// # What a frame costs
//
// The order of the domains is kept between frames and sorted again only when a sort key changed, and at most four times
// a second. Frame.Seq stays the same as long as the answer to that query shows the same, so a screen can leave out
// drawing it: only Frame.At and Run.Elapsed go on, which a screen advances by its own clock.
//
// Foreign text (domains, causes, events) passes through as it came; making it printable is the screens' task.
package view
