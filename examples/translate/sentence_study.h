#pragma once

#include <heed/study/record.h>
#include <heed/study/report.h>

#include <filesystem>
#include <string>

#include "translate/data/batches.h"
#include "translate/translator.h"

namespace heed::translate {

/// One sentence and a translation of it, and what flowed through the model when it was asked for that
/// translation: forward with the true words fed, and backward from the loss.
struct SentenceStudy {
  Encoded example;
  std::vector<study::ReportToken> source;   ///< the words and the end marker
  std::vector<study::ReportToken> fed;      ///< what the decoder is fed: the begin marker and all words
  std::vector<study::ReportToken> written;  ///< what it is to write: all words and the end marker
  double loss = 0;                          ///< nats per target token
  study::StepRecord record;
};

/// In evaluation mode, afterwards the model is as it was. Sentences that are too long for the model are cut.
/// ValueError for one without words.
SentenceStudy study_sentence(Translator& translator, const Sentence& source, const Sentence& target);

/// A page of all that: every attention layer, what each source word adds to the loss, what becomes of the
/// loss without each head, and, from the metrics of the training in `folder` if they are there, how loss and
/// gradients went.
study::Report sentence_report(Translator& translator, const SentenceStudy& studied,
                              const std::filesystem::path& folder);

}  // namespace heed::translate
