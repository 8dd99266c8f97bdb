// Pinocchio's dynamics behind plain C functions, header-only, so that they are compiled with the flags of everything else.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <chrono>
#include <fstream>
#include <string>

using namespace pinocchio;
using Vector = Eigen::Map<const Eigen::VectorXd>;

struct Robot {
  Model model;
  Data data;
};

enum Function { INVERSE, FORWARD, MASS, INVERSE_DERIVATIVES, FORWARD_DERIVATIVES };

static JointIndex add_joint(Model &model, const std::string &kind, JointIndex parent, const double *axis, const SE3 &place,
                            const std::string &name) {
  if (kind == "free") return model.addJoint(parent, JointModelFreeFlyer(), place, name);
  if (kind == "x") return model.addJoint(parent, JointModelRX(), place, name);
  if (kind == "y") return model.addJoint(parent, JointModelRY(), place, name);
  if (kind == "z") return model.addJoint(parent, JointModelRZ(), place, name);
  if (kind == "sx") return model.addJoint(parent, JointModelPX(), place, name);
  if (kind == "sy") return model.addJoint(parent, JointModelPY(), place, name);
  if (kind == "sz") return model.addJoint(parent, JointModelPZ(), place, name);
  return model.addJoint(parent, JointModelRevoluteUnaligned(Eigen::Vector3d(axis[0], axis[1], axis[2])), place, name);
}

// One line per link: kind, parent, axis, rotation by rows, position, mass, mass centre, inertia at it by rows.
static Model read_model(const char *path) {
  std::ifstream file(path);
  Model model;
  int links;
  file >> links;
  for (int i = 0; i < links; i++) {
    std::string kind;
    int parent;
    double v[28];
    file >> kind >> parent;
    for (double &x : v) file >> x;
    SE3 place;
    place.rotation() = Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(v + 3);
    place.translation() = Eigen::Map<Eigen::Vector3d>(v + 12);
    const Inertia inertia(v[15], Eigen::Map<Eigen::Vector3d>(v + 16), Eigen::Map<Eigen::Matrix3d>(v + 19));
    const JointIndex joint = add_joint(model, kind, parent + 1, v, place, "joint" + std::to_string(i));
    model.appendBodyToJoint(joint, inertia, SE3::Identity());
  }
  return model;
}

static void compute(Robot &robot, int function, const double *q, const double *v, const double *a, Convention convention) {
  const Vector Q(q, robot.model.nq), V(v, robot.model.nv), A(a, robot.model.nv);
  switch (function) {
    case INVERSE: rnea(robot.model, robot.data, Q, V, A); break;
    case FORWARD: aba(robot.model, robot.data, Q, V, A, convention); break;
    case MASS: crba(robot.model, robot.data, Q, convention); break;
    case INVERSE_DERIVATIVES: computeRNEADerivatives(robot.model, robot.data, Q, V, A); break;
    case FORWARD_DERIVATIVES: computeABADerivatives(robot.model, robot.data, Q, V, A); break;
  }
}

extern "C" {
void *peer_load(const char *path) {
  Model model = read_model(path);
  return new Robot{model, Data(model)};
}

// The result, matrices by rows: tau; vdot; M; d tau by q, v; d vdot by q, v, tau.
void peer_evaluate(void *robot_, int function, const double *q, const double *v, const double *a, double *out) {
  Robot &robot = *static_cast<Robot *>(robot_);
  const int n = robot.model.nv;
  using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  auto full = [](const Eigen::MatrixXd &upper) { return Eigen::MatrixXd(upper.selfadjointView<Eigen::Upper>()); };
  compute(robot, function, q, v, a, Convention::WORLD);
  if (function == INVERSE) Eigen::Map<Eigen::VectorXd>(out, n) = robot.data.tau;
  if (function == FORWARD) Eigen::Map<Eigen::VectorXd>(out, n) = robot.data.ddq;
  if (function == MASS) Rows(out, n, n) = full(robot.data.M);
  if (function == INVERSE_DERIVATIVES) {
    Rows(out, n, n) = robot.data.dtau_dq;
    Rows(out + n * n, n, n) = robot.data.dtau_dv;
  }
  if (function == FORWARD_DERIVATIVES) {
    Rows(out, n, n) = robot.data.ddq_dq;
    Rows(out + n * n, n, n) = robot.data.ddq_dv;
    Rows(out + 2 * n * n, n, n) = full(robot.data.Minv);
  }
}

// Seconds for one pass over `count` states, the faster of Pinocchio's two conventions.
double peer_time(void *robot_, int function, int count, const double *q, const double *v, const double *a) {
  Robot &robot = *static_cast<Robot *>(robot_);
  double best = 1e30;
  for (Convention convention : {Convention::WORLD, Convention::LOCAL}) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; i++)
      compute(robot, function, q + i * robot.model.nq, v + i * robot.model.nv, a + i * robot.model.nv, convention);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (spent.count() < best) best = spent.count();
  }
  return best;
}
}
