// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdlog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// crash is what Go's runtime prints when etcd ends by a panic or by a signal. The stacks of all goroutines may be
// thousands of lines.
type crash struct {
	// head has the messages before the first stack, and first the functions of the first stack, from the one that
	// was running.
	head, first []string
}

var (
	capnslogAny   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+ [A-Z] \| `)
	goroutineLine = regexp.MustCompile(`^goroutine \d+ .*\[.*\]:$`)
	stackFile     = regexp.MustCompile(`^\t\S+\.(?:go|s):\d+(?: |$)`)
	signalLine    = regexp.MustCompile(`^(?:\[signal )?(SIGBUS|SIGSEGV): (?:[a-z]+(?: |$))+`)
	// noPage is the code of SIGBUS for a page that a mapped file does not have.
	noPage = regexp.MustCompile(`(?:^|[ \n])(?:code|sigcode)=(?:0x)?2\b`)
	// moduleFunction is a function of a module, unlike those of Go's standard library and of package main. boltFunction is
	// one of bbolt, also where etcd vendors it or it has its old path.
	moduleFunction = regexp.MustCompile(`^[\w-]+\.[\w.-]+/`)
	boltFunction   = regexp.MustCompile(`(?:^|/)(?:go\.etcd\.io|github\.com/(?:etcd-io|coreos|boltdb))/b?bolt[./]`)
)

// splitCrash returns the lines of a log up to the messages of a crash at its end, and the crash. It has no head if the
// log doesn't end with the stack of a goroutine.
func splitCrash(lines []string) ([]string, crash) {
	begin := len(lines)
	for begin > 0 && !isLogLine(lines[begin-1]) {
		begin--
	}
	printed := lines[begin:]
	at := slices.IndexFunc(printed, goroutineLine.MatchString)
	if at < 0 {
		return lines, crash{}
	}
	c := crash{head: printed[:at]}
	for _, line := range printed[at+1:] {
		if strings.TrimSpace(line) == "" {
			break
		}
		if !strings.HasPrefix(line, "\t") { // a file and its line number
			c.first = append(c.first, line)
		}
	}
	return lines[:begin+at], c
}

// isLogLine reports whether etcd's logger printed a line, with any level.
func isLogLine(line string) bool {
	var zap zapLine
	line = strings.TrimSpace(line)
	return capnslogAny.MatchString(line) || strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &zap) == nil && zap.Level != ""
}

// BeginsInStack reports whether a text from the end of a log has only a part of the stacks of a crash, without the
// messages before these.
func BeginsInStack(text string) bool {
	lines := strings.Split(text, "\n")
	_, c := splitCrash(lines)
	return c.message() == "" && slices.ContainsFunc(lines, stackFile.MatchString)
}

// message returns the line that names the panic or the fatal error, empty for none.
func (c crash) message() string {
	at := slices.IndexFunc(c.head, func(line string) bool { return goPanic.MatchString(line) || signalLine.MatchString(line) })
	if at < 0 {
		return ""
	}
	return c.head[at]
}

// databaseFault returns the signal by which etcd ended while it read the memory into which bbolt maps the file of its
// database, empty for any other end. SIGBUS shows that only with the code of a page that does not exist: another code is
// that of the machine's memory. SIGSEGV shows it only at an unexpected address while bbolt itself was running: etcd also
// uses a closed database while it stops, which is a nil pointer.
func (c crash) databaseFault() string {
	unexpected := slices.ContainsFunc(c.head, func(line string) bool { return strings.HasPrefix(line, "unexpected fault address") })
	for at, line := range c.head {
		found := signalLine.FindStringSubmatch(line)
		if found == nil || found[1] == "SIGSEGV" && (!unexpected || !c.inBolt()) || found[1] == "SIGBUS" && !noPage.MatchString(strings.Join(c.head[at:], "\n")) {
			continue
		}
		return strings.TrimPrefix(strings.TrimSpace(found[0]), "[signal ")
	}
	return ""
}

// inBolt reports whether the innermost function of a module is one of bbolt.
func (c crash) inBolt() bool {
	at := slices.IndexFunc(c.first, moduleFunction.MatchString)
	return at >= 0 && boltFunction.MatchString(c.first[at])
}

// unreadableDatabase is what a fault shows, with its other cause.
const unreadableDatabase = "a page of its database file can't be read, so the file is truncated or damaged; or its disk or volume has I/O errors or is full, which shows in the events of the node"
