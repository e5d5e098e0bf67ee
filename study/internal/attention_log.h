#pragma once

#include <map>

#include <heed/study/internal/log.h>
#include <heed/study/internal/named_modules.h>
#include <heed/study/record.h>

namespace heed::study::internal {

/// The residual blocks of a model.
class ResidualLogs {
 public:
  ResidualLogs(const NamedModules& modules, const Clock& clock);
  /// Each block that ran and got a gradient.
  std::vector<ResidualSource> sources() const;
  void clear();

 private:
  struct Block {
    std::unique_ptr<PointLog> log;
    Variable norm_weight;  // undefined without a layer norm
    double norm_epsilon = 0;
  };
  std::vector<Block> blocks_;
};

/// The linear layers that make queries, keys and values, as far as a module has them: q_proj, k_proj, v_proj.
class ProjectionLogs {
 public:
  ProjectionLogs(const std::string& module, const NamedModules& modules, const Clock& clock);
  /// That of "query", "key" or "value", or null.
  const ProjectionLog* find(const std::string& path) const;
  void clear();

 private:
  std::map<std::string, std::unique_ptr<ProjectionLog>> logs_;
};

/// What an attention layer showed, one record for the calls that ask the same keys. Empty for a module that
/// is none.
std::vector<AttentionRecord> attention_records(const PointLog& log);

/// The flows into the attention layer of each of these records, in the same order.
void add_flows(std::vector<AttentionRecord>& records, const PointLog& log, const ProjectionLogs& projections,
               const std::vector<ResidualSource>& residuals);

/// What any other module showed, name by name. Empty for an attention layer.
std::vector<PointRecord> point_records(const PointLog& log);

}  // namespace heed::study::internal
