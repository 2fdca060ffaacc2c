package lease

// divide gives each of wants its max-min share of total, and divides what nobody wants evenly among those that want
// something. The first get what does not divide evenly; first says who is first, so that turns can be taken.
func divide(total int, wants []int, first int) []int {
	shares := make([]int, len(wants))
	n := len(wants)
	if n == 0 {
		return shares
	}
	if total >= Unlimited {
		for i, w := range wants {
			if w > 0 {
				shares[i] = Unlimited
			}
		}
		return shares
	}
	left := max(total, 0)
	for left > 0 {
		open := 0
		for i, w := range wants {
			if shares[i] < w {
				open++
			}
		}
		if open == 0 {
			break
		}
		each := left / open
		for k := range n {
			i := (first + k) % n
			if room := wants[i] - shares[i]; room > 0 && left > 0 {
				give := min(room, max(each, 1), left)
				shares[i] += give
				left -= give
			}
		}
	}
	active := 0
	for _, w := range wants {
		if w > 0 {
			active++
		}
	}
	for k := 0; k < n && left > 0; k++ {
		if i := (first + k) % n; wants[i] > 0 {
			give := (left + active - 1) / active
			shares[i] += give
			left -= give
			active--
		}
	}
	return shares
}
