# Disclosure risk of data frames in R, by the packages nanoarrow and jsonlite:
#
#   go build -buildmode=c-shared -o libmicrorisk.so ./pipeline/library/shared
#   R CMD SHLIB pipeline/library/r/microrisk_r.c
#
#   source("pipeline/library/r/microrisk.R")
#   microrisk_load("libmicrorisk.so", "pipeline/library/r/microrisk_r.so")
#   x <- microrisk_assess(survey, key = c("AGE", "SEX"), fraction = 0.01)
#   x$table; x$summary
#   microrisk_explain(survey, row = 17, key = c("AGE", "SEX"))

microrisk_load <- function(library, glue = "microrisk_r.so") {
  dyn.load(glue)
  invisible(.Call("microrisk_r_load", normalizePath(library)))
}

# The data frame with columns of risk, and the summary. Anything that nanoarrow::as_nanoarrow_array_stream takes can be given. spec: a whole spec as a
# list, without source and sink, in place of key, operators and the sampling.
microrisk_assess <- function(data, key = NULL, fraction = NULL, population_size = NULL, weight = NULL, operators = NULL, limits = NULL, spec = NULL,
                             options = list()) {
  if (is.null(spec)) {
    spec <- microrisk_spec(key, fraction, population_size, weight)
    if (is.null(operators)) operators <- c("suda", if (!is.null(spec$sampling)) "mc3")
    spec$operators <- lapply(operators, function(o) if (is.character(o)) stats::setNames(list(microrisk_empty()), o) else o)
    if (!is.null(limits)) spec$limits <- as.list(limits)
  }
  out <- nanoarrow::nanoarrow_allocate_array_stream()
  answer <- microrisk_call("assess", list(spec = spec, options = microrisk_object(options)), data, out)
  for (w in answer$summary$warnings) warning(w, call. = FALSE)
  if (answer$status == 3) warning("a limit was passed: see summary$limits", call. = FALSE)
  list(table = as.data.frame(out), summary = answer$summary)
}

# Why the record at row, from 1 as R counts, is at risk.
microrisk_explain <- function(data, row, key, fraction = NULL, population_size = NULL, weight = NULL, options = list()) {
  spec <- microrisk_spec(key, fraction, population_size, weight)
  microrisk_call("explain", list(spec = spec, row = row - 1, options = microrisk_object(options)), data)$record
}

# What is in the data: columns, the categories of those in values, or how a key singles records out.
microrisk_inspect <- function(data, key = NULL, values = character(), options = list()) {
  spec <- if (is.null(key)) microrisk_empty() else microrisk_spec(key, NULL, NULL, NULL)
  microrisk_call("inspect", list(spec = spec, values = as.list(values), options = microrisk_object(options)), data)$table
}

microrisk_empty <- function() stats::setNames(list(), character())

microrisk_object <- function(x) if (length(x)) x else microrisk_empty()

microrisk_spec <- function(key, fraction, population_size, weight) {
  spec <- list()
  if (!is.null(key)) spec$key <- list(variables = as.list(key))
  sampling <- list(fraction = fraction, population_size = population_size, weight = weight)
  sampling <- sampling[!vapply(sampling, is.null, NA)]
  if (length(sampling)) spec$sampling <- sampling
  spec
}

microrisk_call <- function(verb, request, data, out = NULL) {
  stream <- nanoarrow::as_nanoarrow_array_stream(data)
  text <- as.character(jsonlite::toJSON(request, auto_unbox = TRUE, digits = NA))
  answer <- jsonlite::fromJSON(.Call("microrisk_r_call", verb, text, stream, out), simplifyVector = FALSE)
  if (!is.null(answer$error)) stop(answer$error$message, call. = FALSE)
  answer
}
