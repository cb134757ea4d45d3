package session

import _ "microrisk/operators/builtin" // what a spec may name
