// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdlog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// End is what the end of the log of a container's etcd shows.
type End struct {
	// Fatal is the message about lost data with which etcd ended, empty for none.
	Fatal string
	// Last is the last line, shortened. It proves nothing.
	Last string
}

// zapLine is a line of etcd's JSON logger.
type zapLine struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Error   string `json:"error"`
}

// capnslogLine is a line of the logger before etcd 3.5, with the levels CRITICAL and ERROR, and goPanic what
// Go's runtime prints.
var (
	capnslogLine = regexp.MustCompile(`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+ [CE] \| [\w./-]+: (.*)$`)
	goPanic      = regexp.MustCompile(`^(?:panic|fatal error): (.*)$`)
)

// graveLevels are the levels of messages with which etcd ends.
var graveLevels = []string{"error", "dpanic", "panic", "fatal"}

// serverError is the message with which etcd ends after an error of a running member, as after its removal.
// Its level is only warn.
const serverError = "server error"

// graveTexts returns the texts of a line of a level at which etcd ends. It returns none for any other line,
// whatever its text is.
func graveTexts(line string) []string {
	var zap zapLine
	if json.Unmarshal([]byte(line), &zap) == nil {
		if slices.Contains(graveLevels, zap.Level) || zap.Level == "warn" && zap.Message == serverError {
			return []string{zap.Error, zap.Message}
		}
		return nil
	}
	for _, format := range []*regexp.Regexp{capnslogLine, goPanic} {
		if found := format.FindStringSubmatch(line); found != nil {
			return found[1:]
		}
	}
	return nil
}

// stopping is the error of what fails because etcd has begun to end. etcd 3.7 ends with it after its removal.
const stopping = "server is stopping"

// mostEndLines is in how many lines from the end, without the stacks of a crash, the message is searched.
const mostEndLines = 40

// endOf returns what the end of a log shows. Only its last message of a level at which etcd ends counts,
// and none that is a consequence of the end.
func endOf(text string) End {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	end := End{Last: short(lines[len(lines)-1])}
	lines, crash := splitCrash(lines)
	if message := crash.message(); message != "" {
		end.Last = short(message)
	}
	if end.Fatal = crash.databaseFault(); end.Fatal != "" {
		return end
	}
	for _, line := range slices.Backward(lines[max(0, len(lines)-mostEndLines):]) {
		texts := graveTexts(strings.TrimSpace(line))
		for _, of := range texts {
			for _, message := range fatalLogMessages {
				if rest, found := messageFrom(of, message); found {
					end.Fatal = rest
					return end
				}
			}
		}
		if texts != nil && !slices.Contains(texts, stopping) {
			break
		}
	}
	return end
}

// mostLine is how many bytes of a line are shown.
const mostLine = 200

// short returns a line as messages show it: of a line in JSON, its level and texts.
func short(line string) string {
	var zap zapLine
	if json.Unmarshal([]byte(line), &zap) == nil && zap.Message != "" {
		line = zap.Level + ": " + zap.Message
		if zap.Error != "" {
			line += ": " + zap.Error
		}
	}
	line = strings.TrimSpace(line)
	if len(line) > mostLine {
		line = strings.ToValidUTF8(line[:mostLine], "") + "..."
	}
	return line
}

// messageFrom returns the rest of a text from a message on. A file's name doesn't count: "open 0.wal:
// permission denied" is no loss of data.
func messageFrom(text, message string) (rest string, found bool) {
	for from := 0; ; {
		at := strings.Index(text[from:], message)
		if at < 0 {
			return "", false
		}
		if at += from; at == 0 || text[at-1] != '.' {
			rest, _, _ = strings.Cut(text[at:], `"`)
			return rest, true
		}
		from = at + 1
	}
}
