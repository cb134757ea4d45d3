package pipeline

import "runtime/debug"

// Version is the program's name and version, and what it was built from where the build knows.
func Version() string { return versionOf(debug.ReadBuildInfo()) }

// module is the path of this module.
const module = "microrisk"

func versionOf(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return module + " unknown"
	}
	version, built := info.Main.Version, ""
	if info.Main.Path != module { // linked into another program
		version = ""
		for _, m := range info.Deps {
			if m.Path == module {
				version = m.Version
			}
		}
	} else {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				built = " revision " + s.Value + built
			case s.Key == "vcs.modified" && s.Value == "true":
				built += " with changes"
			}
		}
	}
	if version == "" {
		version = "(devel)"
	}
	return module + " " + version + built
}
