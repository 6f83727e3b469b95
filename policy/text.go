// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"time"
)

// Count returns a number with a noun of regular plural: "1 member" or "3 members".
func Count(n int, noun string) string {
	return Plural(n, noun, noun+"s")
}

// Plural returns a number with its noun: "1 policy" or "3 policies".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Names returns up to four names, how many more there are, and the verb.
func Names(names []string, singular, plural string) string {
	const listed = 4
	if len(names) == 1 {
		return names[0] + " " + singular
	}
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more %s", strings.Join(names[:listed], ", "), len(names)-listed, plural)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " " + plural
}

// Items returns up to five of n items with commas, and how many more there are.
func Items(n int, item func(int) string) string {
	const listed = 5
	var items []string
	for i := range min(n, listed) {
		items = append(items, item(i))
	}
	if n > listed {
		items = append(items, fmt.Sprintf("and %d more", n-listed))
	}
	return strings.Join(items, ", ")
}

// List joins names as a sentence does: "a, b and c".
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Bytes returns a size for people, in powers of 1024: "1.5 GiB".
func Bytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, power := float64(n)/unit, 0
	for value >= unit && power < 4 {
		value, power = value/unit, power+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[power])
}

// ShortBytes returns a size in at most four characters, in powers of 1024: "1.5G". It returns an
// empty text for no size.
func ShortBytes(n int64) string {
	if n <= 0 {
		return ""
	}
	value, unit := float64(n), 0
	for value >= 1000 && unit < 5 {
		value /= 1024
		unit++
	}
	if unit == 0 || value >= 9.95 {
		return fmt.Sprintf("%.0f%c", value, "BKMGTP"[unit])
	}
	return fmt.Sprintf("%.1f%c", value, "BKMGTP"[unit])
}

// Duration returns a duration without units of zero at its end: "1h30m", and not "1h30m0s". A flag accepts it.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
