// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"
	"testing"
)

// manual is what the manual of a launcher has. The lists are separated by spaces.
type manual struct {
	// operands stand before the program, and first before the options.
	operands, first string
	// flags have no value, values need one, and optional ones have one in the same word alone.
	flags, values, optional string
	// without are options with which it runs no program.
	without string
	// noDashes is true for one that doesn't know "--".
	noDashes bool
}

// manuals are those of coreutils 9, util-linux 2.41, sudo 1.9, and of the others.
var manuals = map[string]manual{
	"nice":    {flags: "-5 -19 --5 -+5", values: "-n --adjustment", without: "--help --version"},
	"nohup":   {without: "--help --version"},
	"stdbuf":  {values: "-i -o -e --input --output --error", without: "--help --version"},
	"timeout": {operands: "1.5h", flags: "-f --foreground -p --preserve-status -v --verbose", values: "-k --kill-after -s --signal", without: "--help"},
	"chroot":  {operands: "/host", flags: "--skip-chdir", values: "--userspec --groups", without: "--version"},
	"env": {
		operands: "A=1 B=2", flags: "- -i --ignore-environment -v --debug --list-signal-handling", values: "-u --unset -C --chdir -a --argv0",
		optional: "--block-signal --default-signal --ignore-signal", without: "-0 --null --help",
	},
	"ionice": {flags: "-t --ignore", values: "-c --class -n --classdata", without: "-p5 -P5 -u5 -h -V --pid=5 --pgid=5 --uid=5"},
	"chrt": {
		operands: "10", without: "-p -m --pid --max -h -V",
		flags:  "-a --all-tasks -b --batch -d --deadline -e --ext -f --fifo -i --idle -o --other -r --rr -R --reset-on-fork -v --verbose",
		values: "-T --sched-runtime -P --sched-period -D --sched-deadline",
	},
	"taskset": {operands: "0-3,5", flags: "-a --all-tasks -c --cpu-list", without: "-p --pid -h -V"},
	"setsid":  {flags: "-c --ctty -f --fork -w --wait", without: "-h -V"},
	"setpriv": {
		flags: "--nnp --no-new-privs --clear-groups --keep-groups --init-groups --reset-env", without: "-d --dump --list-caps -h -V",
		values: "--ruid --euid --rgid --egid --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --ptracer --securebits " +
			"--pdeathsig --selinux-label --apparmor-profile --landlock-access --landlock-rule --seccomp-filter",
	},
	"prlimit": {
		flags: "--noheadings --raw --verbose", values: "-o --output", without: "-p5 --pid=5 -h -V",
		optional: "-c -d -e -f -i -l -m -n -q -r -s -t -u -v -x -y --core --data --nice --fsize --sigpending --memlock --rss --nofile " +
			"--msgqueue --rtprio --stack --cpu --nproc --as --locks --rttime",
	},
	"setarch": {
		first: "x86_64", without: "--list --show -h -V", values: "--pid",
		flags: "-B --32bit -F --fdpic-funcptrs -I --short-inode -L --addr-compat-layout -R --addr-no-randomize -S --whole-seconds -T " +
			"--sticky-timeouts -X --read-implies-exec -Z --mmap-page-zero -3 --3gb --4gb --uname-2.6 -v --verbose",
	},
	"linux64": {flags: "-R -v --verbose", without: "-h"},
	"flock": {
		operands: "/lock", values: "-w --wait --timeout -E --conflict-exit-code --start --length", without: "-h -V",
		flags: "-s --shared -e -x --exclusive -u --unlock -n --nb --nonblock -o --close -F --no-fork --fcntl --verbose",
	},
	"unshare": {
		flags: "-m -u -i -n -p -U -C -T -f --fork -r --map-root-user -c --map-current-user --map-auto --map-subids --keep-caps --forward-signals",
		values: "--map-user --map-group --map-users --map-groups --propagation --setgroups -R --root -w --wd -S --setuid -G --setgid " +
			"--monotonic --boottime -l --load-interp --owner",
		optional: "--mount --uts --ipc --net --pid --user --cgroup --time --kill-child --mount-proc --mount-binfmt", without: "-h -V",
	},
	"nsenter": {
		flags:  "-a --all --preserve-credentials --keep-caps -e --env -F --no-fork -Z --follow-context -c --join-cgroup --user-parent",
		values: "-t --target -N --net-socket -S --setuid -G --setgid -W --wdns", without: "-h -V",
		optional: "-m --mount -u --uts -i --ipc -n --net -p --pid -C --cgroup -U --user -T --time -r --root -w --wd",
	},
	"sudo": {
		flags: "-A --askpass -b --background -B --bell -E --preserve-env -H --set-home -i --login -k --reset-timestamp -n --non-interactive -N " +
			"--no-update -P --preserve-groups -s --shell -S --stdin",
		values:   "-a --auth-type -C --close-from -c -D --chdir -g --group --host -p --prompt -R --chroot -r --role -t --type -T --command-timeout -u --user",
		optional: "--preserve-env", without: "-e --edit -l --list -v --validate -V -K --remove-timestamp --help", operands: "A=1",
	},
	"doas":         {flags: "-n -s", values: "-a -u", without: "-L -C/etc/doas.conf"},
	"tini":         {flags: "-s -v -w -g", values: "-p -e", without: "-h -l --version"},
	"dumb-init":    {flags: "-c --single-child -v --verbose", values: "-r --rewrite", without: "-h -V --help --version"},
	"catatonit":    {flags: "-g", without: "-h -L -P -V"},
	"gosu":         {operands: "etcd:etcd", noDashes: true},
	"su-exec":      {operands: "1000:1000", noDashes: true},
	"s6-setuidgid": {operands: "etcd", noDashes: true},
	"numactl": {
		flags: "-a --all -b --balancing -l --localalloc --cpu-compress", without: "-s --show -H --hardware -h",
		values: "-i --interleave -w --weighted-interleave -p --preferred -P --preferred-many -C --physcpubind -N --cpunodebind --cpubind -m --membind",
	},
	"time": {flags: "-a --append -p --portability -q --quiet -v --verbose", values: "-f --format -o --output", without: "-V --help"},
}

// forms returns the ways to write the options of a manual.
func (m manual) forms() (all [][]string) {
	add := func(args ...string) { all = append(all, args) }
	add()
	letters := ""
	for flag := range strings.FieldsSeq(m.flags) {
		add(flag)
		if len(flag) == 2 && flag[1] >= 'A' {
			letters += flag[1:]
			add("-" + letters)
		}
	}
	for name := range strings.FieldsSeq(m.values) {
		add(name, "etcd")
		switch {
		case strings.HasPrefix(name, "--"):
			add(name + "=etcd")
			add(name + "=")
		default:
			add(name + "etcd")
			add("-"+letters+name[1:], "x")
		}
	}
	for name := range strings.FieldsSeq(m.optional) {
		add(name)
		if strings.HasPrefix(name, "--") {
			add(name + "=etcd")
		} else {
			add(name + "=1")
		}
	}
	return all
}

// TestLaunchers writes each option of each launcher in each way. Behind them it finds the program, and behind an option that
// the launcher doesn't have it finds none.
func TestLaunchers(t *testing.T) {
	t.Parallel()
	for name, m := range manuals {
		command := func(options ...string) []string {
			return slices.Concat([]string{"/usr/bin/" + name}, strings.Fields(m.first), options)
		}
		program := append(strings.Fields(m.operands), "/bin/etcd", "--name", "-x")
		for _, form := range m.forms() {
			for _, dashes := range [][]string{nil, {"--"}} {
				argv := slices.Concat(command(form...), dashes, program)
				at, want := ProgramAt(argv), len(argv)-3
				if m.noDashes && dashes != nil {
					want = 0
				}
				if at != want {
					t.Errorf("%v: the program is at %d, want %d", argv, at, want)
				}
			}
			for _, other := range [][]string{{"--such"}, {"-\u00e9"}, {"--such", "5"}, {"--such=5"}, {"-" + UnknownWord}, {"-?"}} {
				argv := slices.Concat(command(append(slices.Clone(form), other...)...), program)
				if at := ProgramAt(argv); at != 0 {
					t.Errorf("%v: the program is at %d", argv, at)
				}
				started := Start(argv[:1], argv[1:], Surroundings{})
				if want := !slices.ContainsFunc(argv, unknownField); started.Program != starts(name, want) || started.Perhaps != want {
					t.Errorf("%v starts %q, perhaps %t", argv, started.Program, started.Perhaps)
				}
			}
		}
		for option := range strings.FieldsSeq(m.without) {
			if argv := append(command(option), program...); ProgramAt(argv) != -1 {
				t.Errorf("%v: the program is at %d", argv, ProgramAt(argv))
			}
		}
	}
}

// starts returns the program that starts for a launcher. No container starts with what only a shell knows.
func starts(launcher string, known bool) string {
	if known {
		return launcher
	}
	return "unreadable"
}
