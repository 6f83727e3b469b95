// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedAlike are the files whose names may have such words, each with the reason.
var namedAlike = map[string]string{
	"docs/words_test.go": "it is named after its subject",
}

// betweenWords matches the characters that separate words in a path.
var betweenWords = regexp.MustCompile(`[-_./]+`)

// TestWordsOfFileNames searches the paths of all files for banned words, also those of fixtures.
func TestWordsOfFileNames(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (name[0] == '.' || name == "dist" || name == "bin"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		seen++
		rel = filepath.ToSlash(rel)
		if namedAlike[rel] != "" {
			return nil
		}
		for _, f := range find(wordsOf(rel)) {
			t.Errorf("%s: %q is banned: rename the file (%s)", rel, f.word, f.instead)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 1000 {
		t.Errorf("found only %d files", seen)
	}
}

// wordsOf returns a path word by word. Folders and the file are separate sentences.
func wordsOf(path string) string {
	path = strings.ReplaceAll(inName.ReplaceAllString(path, "$1 $2"), "/", " ; ")
	return betweenWords.ReplaceAllString(path, " ")
}

// TestWordsOf shows which words of paths are found.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"test/story/tell.go":                        1,
		"webhook/testdata/eviction-stranger.a.yaml": 1,
		"internal/p/let_go_test.go":                 1,
		"internal/p/letGo/hunt.go":                  2,
		"internal/p/teller.go":                      0,
		"internal/in/place.go":                      1,
	} {
		if found := find(wordsOf(path)); len(found) != want {
			t.Errorf("%s: found %v, want %d", path, found, want)
		}
	}
}
