# Fits L0Learn on one fold: Rscript l0learn.R FOLDER ROWS COLUMNS LAMBDA2 LAMBDA0 MOST_TERMS (LAMBDA0 "path": its own).
# Reads FOLDER/matrix.bin (column by column) and labels.bin, doubles; writes FOLDER/models.csv, one line per coefficient.
loadNamespace("L0Learn") # before the clock
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
n <- as.integer(given[2])
p <- as.integer(given[3])
lambda2 <- as.numeric(given[4])
most_terms <- as.integer(given[6])

doubles <- function(name, count) {
  stream <- file(file.path(folder, name), "rb")
  on.exit(close(stream))
  readBin(stream, "double", count, endian = "little")
}

x <- matrix(doubles("matrix.bin", n * p), n, p)
y <- doubles("labels.bin", n)
settings <- list(
  x, y,
  loss = "Logistic", penalty = "L0L2", algorithm = "CDPSI", maxSuppSize = most_terms,
  nGamma = 1, gammaMin = lambda2, gammaMax = lambda2
)
if (given[5] != "path") settings$lambdaGrid <- list(as.numeric(given[5]))
start <- proc.time()
fit <- do.call(L0Learn::L0Learn.fit, settings)
spent <- proc.time() - start
seconds <- spent[["user.self"]] + spent[["sys.self"]]

# The intercept is the line of column 0, so that a model without terms has one too.
models <- lapply(seq_along(fit$lambda[[1]]), function(m) {
  beta <- as.numeric(fit$beta[[1]][, m])
  used <- which(beta != 0)
  data.frame(
    model = m, lambda0 = fit$lambda[[1]][m], seconds = seconds,
    column = c(0, used), coef = c(fit$a0[[1]][m], beta[used])
  )
})
found <- do.call(rbind, models)
# Doubles with all their digits.
found$coef <- sprintf("%.17g", found$coef)
write.csv(found, file.path(folder, "models.csv"), row.names = FALSE, quote = FALSE)
