// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"regexp"
	"strings"
)

// beginsAsCommand matches an instruction of package flavour that a person might type as it is.
var beginsAsCommand = regexp.MustCompile(`^(kubectl|helm|kubeadm) `)

// toReplace is the aim of a replacement.
const toReplace = "to replace it"

// instruction returns how to change members, as package flavour has it, in the form of a fix: only a whole command
// begins with the name of a program. aim is what the instruction achieves.
func instruction(aim, how string) string {
	command, text, found := strings.Cut(how, ", ")
	switch {
	case !beginsAsCommand.MatchString(how):
		return how
	case strings.HasPrefix(how, "kubectl ") && !found:
		return how
	case strings.HasPrefix(how, "kubectl "):
		return text + ": " + command
	}
	return aim + ": " + how
}
