package pipeline

import _ "microrisk/operators/builtin" // what a spec may name
