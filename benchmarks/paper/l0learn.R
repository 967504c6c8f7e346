# Fit L0Learn on one fold: Rscript l0learn.R FOLDER ROWS COLUMNS LAMBDA2 LAMBDA0 MAX_TERMS
# With LAMBDA0 "path", L0Learn chooses its own grid.
# Reads doubles from FOLDER/matrix.bin (column by column) and labels.bin. Writes FOLDER/models.csv, one line per
# coefficient.
# The package is loaded before the time is measured.
loadNamespace("L0Learn")
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
n <- as.integer(arguments[2])
p <- as.integer(arguments[3])
lambda2 <- as.numeric(arguments[4])
max_terms <- as.integer(arguments[6])

doubles <- function(name, count) {
  stream <- file(file.path(folder, name), "rb")
  on.exit(close(stream))
  readBin(stream, "double", count, endian = "little")
}

x <- matrix(doubles("matrix.bin", n * p), n, p)
y <- doubles("labels.bin", n)
settings <- list(
  x, y,
  loss = "Logistic", penalty = "L0L2", algorithm = "CDPSI", maxSuppSize = max_terms,
  nGamma = 1, gammaMin = lambda2, gammaMax = lambda2
)
if (arguments[5] != "path") settings$lambdaGrid <- list(as.numeric(arguments[5]))
start <- proc.time()
fit <- do.call(L0Learn::L0Learn.fit, settings)
spent <- proc.time() - start
seconds <- spent[["user.self"]] + spent[["sys.self"]]

# The intercept is stored as column 0, so that a model without terms has a line too.
models <- lapply(seq_along(fit$lambda[[1]]), function(m) {
  beta <- as.numeric(fit$beta[[1]][, m])
  used <- which(beta != 0)
  data.frame(
    model = m, lambda0 = fit$lambda[[1]][m], seconds = seconds,
    column = c(0, used), coef = c(fit$a0[[1]][m], beta[used])
  )
})
found <- do.call(rbind, models)
# Write doubles with full precision.
found$coef <- sprintf("%.17g", found$coef)
write.csv(found, file.path(folder, "models.csv"), row.names = FALSE, quote = FALSE)
