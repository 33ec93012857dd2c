"""The public names, listed once: `__init__.py` reads them here, and so do type checkers.

`mechdesign.__all__`, which completion shows, leaves out what is found in the namespaces
`mechanisms`, `accounting`, `estimation` and `plots`, and what needs an extra. All of it can be
imported from `mechdesign` too.
"""

from mechdesign import (
    accounting as accounting,
    estimation as estimation,
    mechanisms as mechanisms,
    plots as plots,
)
from mechdesign.accounting import (
    compose as compose,
    implied as implied,
    leakages as leakages,
    relations as relations,
    tightest_matrix as tightest_matrix,
    trade_off as trade_off,
)
from mechdesign.channel import (
    Channel as Channel,
)
from mechdesign.closed_forms.universal import (
    Universality as Universality,
    universal_channel as universal_channel,
)
from mechdesign.collection.attributes import (
    compare_attributes as compare_attributes,
)
from mechdesign.collection.personalized import (
    BinnedRange as BinnedRange,
    collect_numbers as collect_numbers,
    privatize_each as privatize_each,
)
from mechdesign.collection.records import (
    privatize_file as privatize_file,
    tally_file as tally_file,
)
from mechdesign.collection.spending import (
    spending as spending,
)
from mechdesign.collection.tables import (
    privatize as privatize,
    tally as tally,
)
from mechdesign.collection.transformer import (
    ChannelTransformer as ChannelTransformer,
)
from mechdesign.continuous import (
    KDE as KDE,
    Box as Box,
    ContinuousChannel as ContinuousChannel,
    ContinuousProblem as ContinuousProblem,
    GaussianMixture as GaussianMixture,
    Histogram as Histogram,
    Interval as Interval,
    NamedLaw as NamedLaw,
    PlaneHistogram as PlaneHistogram,
    PlaneMixture as PlaneMixture,
    PlaneSamples as PlaneSamples,
    ProductLaw as ProductLaw,
    Samples as Samples,
)
from mechdesign.designs.facade import (
    design as design,
)
from mechdesign.designs.min_epsilon import (
    min_epsilon as min_epsilon,
)
from mechdesign.designs.solution import (
    Solution as Solution,
)
from mechdesign.domain import (
    Domain as Domain,
)
from mechdesign.errors import (
    CertificateError as CertificateError,
    InfeasibleError as InfeasibleError,
    InputError as InputError,
    LimitError as LimitError,
    MechdesignError as MechdesignError,
    RepeatedDrawWarning as RepeatedDrawWarning,
    SolverError as SolverError,
    UnsupportedError as UnsupportedError,
)
from mechdesign.estimation import (
    Estimate as Estimate,
    ScalarEstimate as ScalarEstimate,
    estimate as estimate,
    estimate_groups as estimate_groups,
    posterior_mean as posterior_mean,
)
from mechdesign.files import (
    load_channel as load_channel,
    load_mechanism as load_mechanism,
    load_problem as load_problem,
    save as save,
)
from mechdesign.mechanisms import (
    ByComponent as ByComponent,
    GeneralizedRandomizedResponse as GeneralizedRandomizedResponse,
    GeometricNoise as GeometricNoise,
    HadamardResponse as HadamardResponse,
    HighLow as HighLow,
    LIPRandomizedResponse as LIPRandomizedResponse,
    Mechanism as Mechanism,
    OptimizedUnaryEncoding as OptimizedUnaryEncoding,
    PlanarLaplace as PlanarLaplace,
    ProjectiveGeometryResponse as ProjectiveGeometryResponse,
    SubsetSelection as SubsetSelection,
    SymmetricUnaryEncoding as SymmetricUnaryEncoding,
    block_hadamard as block_hadamard,
    block_projective_geometry as block_projective_geometry,
    block_randomized_response as block_randomized_response,
    block_subset_selection as block_subset_selection,
    high_low_hadamard as high_low_hadamard,
    high_low_projective_geometry as high_low_projective_geometry,
    high_low_randomized_response as high_low_randomized_response,
    high_low_subset_selection as high_low_subset_selection,
)
from mechdesign.notions import (
    LDP as LDP,
    LIP as LIP,
    PML as PML,
    ApproximateLDP as ApproximateLDP,
    ApproximateLIP as ApproximateLIP,
    AsymmetricLift as AsymmetricLift,
    AttackError as AttackError,
    BlockLDP as BlockLDP,
    BoundedPriorLift as BoundedPriorLift,
    BoundedPriorLIP as BoundedPriorLIP,
    BoundedPriorPML as BoundedPriorPML,
    ContextAwareLDP as ContextAwareLDP,
    DifferentialIdentifiability as DifferentialIdentifiability,
    GVulnerabilityPrivacy as GVulnerabilityPrivacy,
    HighLowLDP as HighLowLDP,
    LinearNotion as LinearNotion,
    MaximalLeakage as MaximalLeakage,
    MetricPrivacy as MetricPrivacy,
    MutualInformationPrivacy as MutualInformationPrivacy,
    SensitiveAttribute as SensitiveAttribute,
    SensitiveAttributePrivacy as SensitiveAttributePrivacy,
)
from mechdesign.plots import (
    plot_channel as plot_channel,
    plot_error_region as plot_error_region,
    plot_estimate as plot_estimate,
    plot_frontier as plot_frontier,
    plot_kernel as plot_kernel,
    plot_leakages as plot_leakages,
    plot_loss as plot_loss,
    plot_map as plot_map,
    plot_polytope as plot_polytope,
    plot_posterior as plot_posterior,
    plot_relations as plot_relations,
    plot_report_quantiles as plot_report_quantiles,
    plot_reports as plot_reports,
)
from mechdesign.prior import (
    Prior as Prior,
)
from mechdesign.prior_sets import (
    PriorBall as PriorBall,
    PriorBox as PriorBox,
    PriorList as PriorList,
)
from mechdesign.problem import (
    Expected as Expected,
    Problem as Problem,
)
from mechdesign.reports import (
    Reports as Reports,
    Tally as Tally,
)
from mechdesign.sweeps.frontier import (
    design_frontier as design_frontier,
    trace_frontier as trace_frontier,
)
from mechdesign.sweeps.many import (
    design_each as design_each,
    design_many as design_many,
)
from mechdesign.utilities import (
    BayesAccuracy as BayesAccuracy,
    ChiSquared as ChiSquared,
    ColumnUtility as ColumnUtility,
    ConvexUtility as ConvexUtility,
    Distortion as Distortion,
    EuclideanDistance as EuclideanDistance,
    FisherInformation as FisherInformation,
    GVulnerability as GVulnerability,
    HammingLoss as HammingLoss,
    KullbackLeibler as KullbackLeibler,
    L2Risk as L2Risk,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanSquaredDistance as MeanSquaredDistance,
    MutualInformation as MutualInformation,
    PosteriorMeanSquaredError as PosteriorMeanSquaredError,
    SquaredHellinger as SquaredHellinger,
    TotalVariation as TotalVariation,
    TVRisk as TVRisk,
    UnbiasedVariance as UnbiasedVariance,
)

__version__: str
__all__: list[str]
